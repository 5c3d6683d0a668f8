import{a,b,c}from"./chunk-JOETBP2L.js";import"./chunk-EBLFIQHL.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
