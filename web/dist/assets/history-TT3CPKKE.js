import{e as a}from"./chunk-DPUNKXPU.js";import"./chunk-4ER5NPDN.js";import"./chunk-PG2DVLU7.js";import"./chunk-IQRIQFM2.js";export{a as default};
