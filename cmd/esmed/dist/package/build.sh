#!/bin/sh
# Builds a package in bin/. What it holds that is no file of the repository as it is, is put together in bin/package.
#
#	build.sh deb|rpm ARCH
#
# $PACKAGE_VERSION is its version, unless that is the one that the program says it is.
set -eu
format=$1 arch=$2 out=bin/package dist=cmd/esmed/dist
go=${GO:-go}
rm -rf $out
mkdir -p $out/man $out/completion
for program in esmed smscsim; do
	$dist/static.sh "$arch" $program $out/$program
done
bin=$out
if [ "$arch" != "$($go env GOHOSTARCH)" ]; then
	bin=bin # those that run here, for their pages
	$go build -trimpath -o bin/ ./cmd/esmed ./cmd/smscsim
fi
version=${PACKAGE_VERSION:-$($bin/esmed version | sed -E 's/^esmed v?([^ ]+) .*/\1/; s/^devel$/0.0.0-devel/')}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PACKAGE_VERSION="$version" PACKAGE_ARCH="$arch"

for program in esmed smscsim; do
	$bin/$program man $out/man
	$bin/$program completion bash >$out/completion/$program.bash
	$bin/$program completion zsh >$out/completion/_$program
	$bin/$program completion fish >$out/completion/$program.fish
done
gzip -9n $out/man/*.1

# The example, with what the unit brings along: passwords that root alone can read.
$bin/esmed config example | sed 's|password_file: /etc/esmed/alpha.password  |password_file: credentials/alpha.password |' >$out/esmed.yaml
grep -q 'password_file: credentials/alpha.password' $out/esmed.yaml

cat >$out/changelog.yaml <<END
- semver: $version
  date: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  packager: The esmed authors <esmed@localhost>
  deb: {urgency: medium, distributions: [unstable]}
  changes:
    - note: Version $version. What changed is in the log of the repository.
END

# The binaries hold the code of others, whose licences ask to be named.
{
	cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: esmed
Comment: The programs are linked statically. The licences of what they hold besides esmed itself stand below as
 the modules have them.

Files: *
Copyright: the esmed authors
License: none-stated
 The repository states no licence: the authors say what they grant.
END
	$go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/esmed ./cmd/smscsim | sort -u |
		while read -r module version dir; do
			for file in "$dir"/LICENSE* "$dir"/LICENCE* "$dir"/COPYING* "$dir"/NOTICE*; do
				[ -f "$file" ] || continue
				printf '\n---- %s %s: %s\n\n' "$module" "$version" "${file##*/}"
				cat "$file"
			done
		done
	printf '\n---- Go %s: LICENSE\n\n' "$($go env GOVERSION)"
	cat "$($go env GOROOT)/LICENSE"
} >$out/copyright

$go tool -modfile=$dist/tools.mod nfpm package --config $dist/package/nfpm.yaml --target bin/ --packager "$format"
