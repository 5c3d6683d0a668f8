import{a,b,c}from"./chunk-OLJMAE4Z.js";import"./chunk-TDVNEJ3T.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
