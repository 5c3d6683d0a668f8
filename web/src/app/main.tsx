/** Starts the page. */

import "./take-token";
import { render } from "preact";
import { App } from "./app";
import { answerSiblingTabs } from "./session";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no element #app");
answerSiblingTabs();
render(<App />, root);
