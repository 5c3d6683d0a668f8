import{a}from"./chunk-ND7P3VXU.js";import"./chunk-B6RUKTZ7.js";import"./chunk-3WQDJFA4.js";import"./chunk-JL3OJ3GE.js";export{a as default};
