import{Tb as t,f as o,i as r,m as e,w as m}from"./chunk-BB4A66IU.js";o();var p=document.getElementById("app");if(p===null)throw new Error("the page has no element #app");r();e(m(t,{}),p);
