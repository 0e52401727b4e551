#!/bin/sh
# Builds a program to be given away: static, and the same octets from the same commit and Go, whoever builds it, and
# where.
#
#	static.sh ARCH PROGRAM OUT
set -eu
export CGO_ENABLED=0 GOOS=linux GOARCH="$1" GOFLAGS= GOEXPERIMENT= GOAMD64=v1 GOARM64=v8.0
exec "${GO:-go}" build -trimpath -buildvcs=true -ldflags '-s -w' -o "$3" "./cmd/$2"
