/** The first module of the page: nothing else may run while the token is in the address bar. */

import { takeTokenFromAddress } from "./session";

takeTokenFromAddress();
