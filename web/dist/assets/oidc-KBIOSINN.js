import{a,b,c}from"./chunk-B3ZTA356.js";import"./chunk-SK5V7VX7.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
