// A placeholder until the page is built: says which command to type.
const command = `cellar get -s '${location.href}'`;
document.body.append(`The page is not built. Type: ${location.hash.startsWith("#/s/") ? command : "cellar login " + location.origin}`);
