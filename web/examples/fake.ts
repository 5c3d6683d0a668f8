import "../src/grid/index";
import { FakeSource } from "./fake-source";

document.querySelector("cellar-grid")!.source = new FakeSource();
