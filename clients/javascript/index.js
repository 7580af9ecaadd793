// Sends and receives the notifications of a Belfry broker, in browsers and in Node, without dependencies.
export { BelfryClient, LAST_MESSAGE_ID } from "./src/client.js";
export { BelfryError } from "./src/errors.js";
