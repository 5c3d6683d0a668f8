import{a,b,c}from"./chunk-X2HB3J3Z.js";import"./chunk-A2IYYU74.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
