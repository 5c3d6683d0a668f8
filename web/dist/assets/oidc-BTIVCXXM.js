import{a,b,c}from"./chunk-57O42SOY.js";import"./chunk-GTOTQ4W7.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
