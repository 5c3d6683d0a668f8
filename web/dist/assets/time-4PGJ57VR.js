import{d as a}from"./chunk-OIAQFMZK.js";import"./chunk-N2XBIL73.js";import"./chunk-CZIZDYGH.js";import"./chunk-K4F3ZD7W.js";export{a as default};
