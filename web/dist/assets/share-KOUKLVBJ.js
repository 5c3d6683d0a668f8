import{f as a}from"./chunk-Y6XS5JFP.js";import"./chunk-4PEDGWCY.js";import"./chunk-FHDUM4KY.js";import"./chunk-4J4E7RWX.js";export{a as default};
