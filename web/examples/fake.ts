import "../src/grid/index";
import { FakeSource } from "./fake-source";

const grid = document.querySelector("cellar-grid")!;
grid.source = new FakeSource();
