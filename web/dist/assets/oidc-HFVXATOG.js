import{a,b,c}from"./chunk-IV7HAWKX.js";import"./chunk-4J4E7RWX.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
