import{f as a}from"./chunk-RRX4HJ76.js";import"./chunk-MFXGELCV.js";import"./chunk-N7YK6GRY.js";import"./chunk-W4TGEUMC.js";export{a as default};
