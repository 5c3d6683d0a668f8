import{f as a}from"./chunk-LH2SXQVZ.js";import"./chunk-5NY2R5WC.js";import"./chunk-VIOGFYUG.js";import"./chunk-AMOIGTDM.js";export{a as default};
