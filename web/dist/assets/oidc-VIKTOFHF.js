import{a,b,c}from"./chunk-SAVIJQGQ.js";import"./chunk-VTXG6I4P.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
