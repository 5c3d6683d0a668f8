import{a}from"./chunk-VEQEFTKY.js";import"./chunk-D4SKQL6B.js";import"./chunk-CVVWDV26.js";import"./chunk-GTOTQ4W7.js";export{a as default};
