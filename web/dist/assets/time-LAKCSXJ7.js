import{d as a}from"./chunk-FLPNT7AY.js";import"./chunk-GLLIIRXV.js";import"./chunk-CTJA7GOT.js";import"./chunk-3WEPB42I.js";export{a as default};
