import{a}from"./chunk-GY6TSXCR.js";import"./chunk-SBIZSHFE.js";import"./chunk-4KF3BPJ2.js";import"./chunk-HV64ORC3.js";export{a as default};
