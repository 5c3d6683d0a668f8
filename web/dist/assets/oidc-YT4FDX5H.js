import{a,b,c}from"./chunk-SILWCTXH.js";import"./chunk-FUQ2BXRQ.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
