import{a,b,c}from"./chunk-7MTBDADQ.js";import"./chunk-AMOIGTDM.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
