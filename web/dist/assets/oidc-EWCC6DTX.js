import{a,b,c}from"./chunk-77EP222H.js";import"./chunk-MPP5SZJE.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
