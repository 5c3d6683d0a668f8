import{c as a}from"./chunk-AYGOXHXX.js";import"./chunk-DHKFJJG2.js";import"./chunk-OH3J3PV2.js";import"./chunk-SCSJGXRV.js";export{a as default};
