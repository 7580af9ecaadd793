// What a feed tells, from what the stream says. Each has a `kind`.

const readers = {
  notification: (data, cursor) => isNotification(data) && { notification: data, cursor },
  updated: (data, cursor) => isNotification(data) && { notification: data, cursor },
  retracted: ({ messageServerId }, cursor) => typeof messageServerId === "string" && { messageServerId, cursor },
  read: ({ messageServerIds, upTo }) =>
    (typeof upTo === "string" && { messageServerIds: [], upTo })
    || (Array.isArray(messageServerIds) && { messageServerIds, upTo: undefined }),
  preferences: ({ preferences }) => Array.isArray(preferences) && { preferences },
  counts: (data) => Number.isInteger(data.unread) && { counts: data },
  device: ({ operation, of, target, device }) => typeof operation === "string" && { operation, of, target, device },
  gap: ({ from, to }) => typeof from === "string" && typeof to === "string" && { from, to },
  kicked: ({ reason, retry, byDevice }) => typeof reason === "string" && { reason, retry: Boolean(retry), byDevice },
};

const isNotification = (data) => typeof data.messageServerId === "string";

/** What cannot be read is of the kind `other`: one odd event must not end a feed, and must not vanish either. */
export function feedEvent({ event, data, id }) {
  try {
    const read = Object.hasOwn(readers, event) && readers[event](JSON.parse(data), id);
    if (read) return { kind: event, ...read };
  } catch { /* No JSON, or nothing that has fields. */ }
  return { kind: "other", event, data };
}

/** The broker says "not as you are", but the next connection asks for a token anew. */
export const needsToken = ({ reason }) => reason === "tokenExpired" || reason === "tokenRevoked";
