import{a,b,c}from"./chunk-KA5ULFHN.js";import"./chunk-3WEPB42I.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
