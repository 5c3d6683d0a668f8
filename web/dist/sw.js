// A placeholder until the page is built.
