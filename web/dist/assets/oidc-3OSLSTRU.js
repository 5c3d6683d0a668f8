import{a,b,c}from"./chunk-SNREK3RR.js";import"./chunk-JL3OJ3GE.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
