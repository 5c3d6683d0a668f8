import{d as a}from"./chunk-OJCVQUVG.js";import"./chunk-47Y6L524.js";import"./chunk-BIV5F4XR.js";import"./chunk-EBLFIQHL.js";export{a as default};
