import{a,b,c}from"./chunk-FPM4GGCY.js";import"./chunk-BUPFAJUS.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
