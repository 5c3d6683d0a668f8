import{a,b,c}from"./chunk-NRZEMJNJ.js";import"./chunk-2T34CYF5.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
