# The command in a container:
#   docker build -t sluice .
#   docker run --rm -v "$PWD:/data" -e SLUICE_BASE_URL -e SLUICE_API_KEY sluice \
#     verify contacts.csv --email email --country US -o verified.csv
# The state directory is beside the output, in the volume: a container that was killed goes on as a new
# one. Files are written as user 1000; with a folder of somebody else add --user "$(id -u):$(id -g)".
FROM node:22-bookworm-slim AS build
WORKDIR /sluice
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
COPY --from=build /sluice/package.json /sluice/package.json
COPY --from=build /sluice/node_modules /sluice/node_modules
COPY --from=build /sluice/dist /sluice/dist
RUN ln -s /sluice/dist/cli/main.js /usr/local/bin/sluice \
  && mkdir /data \
  && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
ENTRYPOINT ["sluice"]
CMD ["--help"]
