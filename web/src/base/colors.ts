/** Colors of marks and of people. */
export const COLORS = 8;
