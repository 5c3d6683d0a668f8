/** The details of a spreadsheet, which the screen and the data layer read together. */

import { readDetails, type Spreadsheet } from "../../stack/details";
import type { StackClient } from "../../stack/http";

export class SharedDetails {
  #reading: Promise<Spreadsheet> | null = null;

  constructor(
    private readonly stack: StackClient,
    private readonly id: string,
  ) {}

  /** Reads the details at the first call, and again after a failure. */
  read(): Promise<Spreadsheet> {
    if (this.#reading !== null) return this.#reading;
    const reading = readDetails(this.stack, this.id);
    this.#reading = reading;
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = null;
    });
    return reading;
  }
}
