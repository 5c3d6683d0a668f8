import{a,b,c}from"./chunk-XQ47SR3M.js";import"./chunk-7ZV4EAVY.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
