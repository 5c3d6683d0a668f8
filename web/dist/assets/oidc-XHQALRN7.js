import{a,b,c}from"./chunk-ME35MBGD.js";import"./chunk-BP23ZCUG.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
