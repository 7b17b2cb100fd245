package org.apache.tomcat.util.scan;

import java.io.File;
import java.util.jar.JarFile;

/** Stands for Tomcat's: it opens the class path's archives, again and again. */
public class StandardJarScanner {
    public void scan() throws Exception {
        File any = File.createTempFile("scanned", ".zip");
        any.deleteOnExit();
        java.nio.file.Files.write(any.toPath(), new byte[] {80, 75, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        while (true) {
            new JarFile(any).close();
            Thread.sleep(1);
        }
    }
}
