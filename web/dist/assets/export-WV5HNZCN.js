import{b as a}from"./chunk-C7RP6PBX.js";import"./chunk-CV6VG2LG.js";import"./chunk-JHGMRGUV.js";import"./chunk-FJAMVAZ5.js";export{a as default};
