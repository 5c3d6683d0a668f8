import{a}from"./chunk-CNFYXZ4Q.js";import"./chunk-S5XNRJBO.js";import"./chunk-32Q6FTVR.js";import"./chunk-SK5V7VX7.js";export{a as default};
