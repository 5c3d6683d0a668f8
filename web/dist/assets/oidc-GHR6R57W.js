import{a,b,c}from"./chunk-ZHZPOAU6.js";import"./chunk-3VPQWJAA.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
