import{f as o,hc as t,i as r,m as e,w as m}from"./chunk-GTOTQ4W7.js";o();var p=document.getElementById("app");if(p===null)throw new Error("the page has no element #app");r();e(m(t,{}),p);
