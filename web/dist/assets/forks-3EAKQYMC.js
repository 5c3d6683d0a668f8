import{a}from"./chunk-IYNXBXQT.js";import"./chunk-BP7VWBMN.js";import"./chunk-CKSRWMUJ.js";import"./chunk-VTXG6I4P.js";export{a as default};
