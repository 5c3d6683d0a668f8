import{a}from"./chunk-W6HPKOCL.js";import"./chunk-AEGIO4RH.js";import"./chunk-6UUPBQ3H.js";import"./chunk-A2IYYU74.js";export{a as default};
