import{a,b,c}from"./chunk-FMCCIUXZ.js";import"./chunk-XEJTYW2R.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
