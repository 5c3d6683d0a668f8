import{a}from"./chunk-6S256FIJ.js";import"./chunk-DSYA3V32.js";import"./chunk-PBNLSAXP.js";import"./chunk-MPP5SZJE.js";export{a as default};
