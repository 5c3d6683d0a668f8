import{a,b,c}from"./chunk-4JK4XWUI.js";import"./chunk-K4F3ZD7W.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
