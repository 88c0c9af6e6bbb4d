# What the binary needs and nothing else: certificates, time zones, and a user that is
# not root. goreleaser puts the binary of each platform beside this file
# (.goreleaser.yaml); make image builds one without it.
FROM gcr.io/distroless/static-debian13:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6
ARG TARGETPLATFORM=.
COPY $TARGETPLATFORM/orbench /usr/bin/orbench
# The folder of the host is mounted here, and keeps the store and what was pulled. Indexes
# are never in it: whoever sends a store could send its index too (ORBENCH_INDEX).
WORKDIR /data
ENV ORBENCH_CACHE=/data/.orbench
ENTRYPOINT ["/usr/bin/orbench"]
