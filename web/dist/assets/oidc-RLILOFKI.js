import{a,b,c}from"./chunk-M24JK44A.js";import"./chunk-BB4A66IU.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
