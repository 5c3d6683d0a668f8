import{d as a}from"./chunk-7HTQ3OFF.js";import"./chunk-547LP3CG.js";import"./chunk-M52T3BTQ.js";import"./chunk-BP23ZCUG.js";export{a as default};
