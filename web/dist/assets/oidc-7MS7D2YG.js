import{a,b,c}from"./chunk-DU6XKJD4.js";import"./chunk-SCSJGXRV.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
